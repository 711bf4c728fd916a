"""
A report as a document: its blocks, figures and words, and what writes it as HTML, PDF, LaTeX or JSON.

This room knows no trace: `gwa.analysis.base` fills a `gwa.report.document.Report`.
"""
