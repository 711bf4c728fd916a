"""What any Python program takes."""
