"""Training frameworks, one file each, which loads its framework when it is imported and not before."""
