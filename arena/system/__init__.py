"""System services for all rooms: untrusted files, printable text, locks and tasks."""
