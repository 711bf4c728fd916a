"""What any program needs: shipped files, atomic writes, progress, the version."""
