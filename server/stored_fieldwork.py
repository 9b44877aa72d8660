"""How the reports of a stored wave came, for sections on methods, labels and notes."""

from analysis.study.methods import Fieldwork
from server.store import Store
from server.stored_results import StoredWave


def fieldwork_of(store: Store, wave: StoredWave, batch: bool = False) -> Fieldwork:
    """Return how the reports of a wave came; `batch` is what the wave was asked with.

    Raises
    ------
    Withheld
        If none is shown yet.
    """
    invited, _ = store.invitations.counts(wave.survey.id).get(wave.number, (0, 0))
    return Fieldwork(
        wave.n,
        invited if wave.survey.access != "open" else None,
        wave.simulated,
        is_open=wave.is_open,
        in_batches=batch,
        left_out=len(wave.left_out) if batch else 0,
    )
