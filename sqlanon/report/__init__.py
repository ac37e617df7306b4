"""Documents of results: paragraphs, tables, charts and notes, and their renderers.

A result returns a :class:`~sqlanon.report.document.Document`; ``console`` renders it on a terminal, ``html`` as a page
or in a notebook. Another renderer is a file with a subclass of :class:`~sqlanon.report.document.Renderer`.
"""
