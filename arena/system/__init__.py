"""What every room needs of the system: files of strangers, text fit to print, locks and tasks."""
