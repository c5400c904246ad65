"""Plots of plain data through matplotlib, which is loaded when one of them is drawn."""
