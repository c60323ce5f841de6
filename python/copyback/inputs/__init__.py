"""What a user gives, read and checked: configurations, settings, arguments, tables of files."""
