"""A bot as a process: built (`build`), started (`starting`), read and written (`process`), measured (`usage`)."""
