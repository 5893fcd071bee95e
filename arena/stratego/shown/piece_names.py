"""Names and numbers of pieces for people.

Names are from the last table of Jumbo 09495, which has all seven languages; differences to Jumbo 494/495 are noted
below. The infiltrator is only in Jumbo 81320 (pp. 4 and 11), in English and French.

The booklets number the stronger piece higher (marshal 10, spy 1); the original Milton Bradley set numbers it lower
(marshal 1, scout 9, S for the spy). Files, protocol and actions always use the European digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from protocol.notation import RANK_BY_LETTER, Rank


class Numbering(StrEnum):
    EUROPEAN = "european"
    AMERICAN = "american"


class PieceLanguage(StrEnum):
    ENGLISH = "en"
    FRENCH = "fr"
    GERMAN = "de"
    DUTCH = "nl"
    DANISH = "da"
    SWEDISH = "sv"
    ITALIAN = "it"


NOT_IN_THE_BOOKLETS = "(not in the booklets)"
"""A note after an English name without a translation in the booklets."""

_LANGUAGES = tuple(PieceLanguage)
_NAMES: dict[Rank, tuple[str, ...]] = {
    # en, fr, de, nl, da, sv, it: in the order of PieceLanguage
    Rank.FLAG: ("flag", "drapeau", "Fahne", "vlag", "fane", "fana", "bandiera"),
    Rank.MARSHAL: ("marshal", "maréchal", "Feldmarschall", "maarschalk", "feltmarskal", "fältmarskalk", "maresciallo"),
    Rank.GENERAL: ("general", "général", "General", "generaal", "general", "general", "generale"),
    Rank.COLONEL: ("colonel", "colonel", "Oberst", "kolonel", "oberst", "överste", "colonnello"),
    Rank.MAJOR: ("major", "commandant", "Major", "majoor", "major", "major", "comandante"),
    Rank.CAPTAIN: ("captain", "capitaine", "Hauptmann", "kapitein", "kaptajn", "kapten", "capitano"),
    Rank.LIEUTENANT: ("lieutenant", "lieutenant", "Leutnant", "luitenant", "løjtnant", "löjtnant", "tenente"),
    Rank.SERGEANT: ("sergeant", "sergent", "Unteroffizier", "sergeant", "underofficer", "sergeant", "sergente"),
    Rank.MINER: ("miner", "démineur", "Mineur", "mineur", "minør", "minör", "artificiere"),
    Rank.SCOUT: ("scout", "éclaireur", "Aufklärer", "verkenner", "spejder", "spanare", "esploratore"),
    Rank.SPY: ("spy", "espionne", "Spionin", "spionne", "spion", "spion", "spia"),
    Rank.BOMB: ("bomb", "bombe", "Bombe", "bom", "bombe", "bomb", "bomba"),
    Rank.INFILTRATOR: ("infiltrator", "agent infiltré"),
}
# Jumbo 494/495 has: nl vaandel, spion; fr espion; de Spion; sv underofficer, spejare; it luogotenente, ingegnere.
# The Danish "Løjnant" of 09495 is a misprint; 494/495 has the t.

_NUMBERS: dict[Rank, tuple[str, str]] = {
    # European, American
    Rank.MARSHAL: ("10", "1"),
    Rank.GENERAL: ("9", "2"),
    Rank.COLONEL: ("8", "3"),
    Rank.MAJOR: ("7", "4"),
    Rank.CAPTAIN: ("6", "5"),
    Rank.LIEUTENANT: ("5", "6"),
    Rank.SERGEANT: ("4", "7"),
    Rank.MINER: ("3", "8"),
    Rank.SCOUT: ("2", "9"),
    Rank.SPY: ("1", "S"),
    Rank.INFILTRATOR: ("1", "I"),
    Rank.BOMB: ("B", "B"),
    Rank.FLAG: ("F", "F"),
}


STRONGEST_FIRST = tuple(RANK_BY_LETTER[letter] for letter in "M98765432SIBF")


@dataclass(frozen=True)
class Names:
    language: PieceLanguage = PieceLanguage.ENGLISH
    numbering: Numbering = Numbering.EUROPEAN

    def name(self, rank: Rank) -> str:
        """Return the name of a piece, or its English name with a note if there is no translation."""
        names = _NAMES[rank]
        index = _LANGUAGES.index(self.language)
        return names[index] if index < len(names) else f"{names[0]} {NOT_IN_THE_BOOKLETS}"

    def one(self, rank: Rank) -> str:
        name = self.name(rank)
        return f"{'an' if name[0].lower() in 'aeéiouö' else 'a'} {name}"

    def number(self, rank: Rank) -> str:
        return _NUMBERS[rank][self.numbering is Numbering.AMERICAN]

    def cell(self, cell: str) -> str:
        """Return a two-character cell of a board with the number of this numbering."""
        rank = RANK_BY_LETTER.get(cell[1])
        return cell if rank is None or self.numbering is Numbering.EUROPEAN else cell[0] + self.number(rank)


DEFAULT_NAMES = Names()


def names_of(options: Mapping[str, str]) -> Names:
    """Return the names of the options `--names` and `--ranks`."""
    return Names(PieceLanguage(options.get("names", "en")), Numbering(options.get("ranks", "european")))
