"""How an AI tool is to use the second brain: one text, rendered for each client.

`python -m second_brain.integrations.instructions FOLDER` writes the files of `ai_instructions/`.
"""
