"""Words too common to search by, in English and French; folded, as the analyser sees them."""

from __future__ import annotations

_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each few for from further had has
have having he her here hers herself him himself his how i if in into is it its itself just me more
most my myself no nor not now of off on once only or other our ours ourselves out over own same she
should so some such than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with
would you your yours yourself yourselves
don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't haven't
hasn't hadn't i'm i've i'll i'd you're you've you'll we're we've we'll they're they've it's that's
what's who's there's let's
"""

_FRENCH = """
a ai aie aient ainsi alors apres as au aucun aura aussi autre aux avaient avais avait avant avec
avez avoir avons ayant c ce cela celle celles celui ces cet cette ceux chez ci comme comment d
dans de des donc dont du elle elles en encore entre es est et etaient etais etait etant etc etes
etre eu eux fait faire font furent ici il ils j je jusqu l la le les leur leurs lui m ma mais me
meme memes mes moi mon n ne ni nos notre nous on ont ou par parce pas peu peut plus pour pourquoi
puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera serait ses si soi soit
sommes son sont sous suis sur t ta te tes toi ton tous tout toute toutes tres tu un une vers voici
voila vos votre vous y
"""

_ACCENTED = " après à été être même mêmes où très voilà étaient était déjà "

STOP_WORDS = frozenset((_ENGLISH + _FRENCH).split())

ENGLISH_ONLY = frozenset(_ENGLISH.split()) - frozenset(_FRENCH.split())
FRENCH_ONLY = frozenset((_FRENCH + _ACCENTED).split()) - frozenset(_ENGLISH.split())
"""Those of one language alone, which tell it; the French ones with their accents, too."""
