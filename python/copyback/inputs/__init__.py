"""Input of users, read and checked: configurations, settings, arguments, tables of files."""
