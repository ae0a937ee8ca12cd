"""How a game is shown. Every renderer draws what `table.look` lets a seat see; none is imported before it is used."""
