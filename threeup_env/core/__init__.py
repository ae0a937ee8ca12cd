"""The rules of play, compiled: functions over the record of one game (state.py), and over many of them."""
