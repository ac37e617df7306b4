"""What people see of a result: a document of paragraphs, tables, bars and notes, and its renderers.

A result describes itself as a :class:`~sqlanon.report.document.Document`; ``console``, ``notebook`` and ``html`` render
one. Another renderer is a file with a subclass of :class:`~sqlanon.report.document.Renderer`.
"""
