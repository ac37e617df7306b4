-- What stands for ~ in paths, if the connection says so.
SELECT current_setting('home_directory') AS home
