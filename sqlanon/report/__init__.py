"""Documents of results: paragraphs, tables, charts and notes, and their renderers.

A result describes itself as a :class:`~sqlanon.report.document.Document`; ``console`` renders one on a terminal, and
``html`` as a page or in a notebook. Another renderer is a file with a subclass of
:class:`~sqlanon.report.document.Renderer`.
"""
