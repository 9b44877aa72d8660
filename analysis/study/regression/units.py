"""Units of parameters: a design whose columns are uncorrelated, so that all matter alike.

Then errors of parameters can be judged without knowing what the columns measure.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

#: Part of a column's mean square that the columns before must leave unexplained.
_OWN = 1e-12


def unit_matrix(
    matrix: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The matrix in units in which its columns' mean products are the identity, and the way back.

    Parameters
    ----------
    matrix : (n, cells, p) array
        With independent columns: see `dependent`.
    times : (n,) array
        What each row counts.

    Returns
    -------
    (n, cells, p) array, (p, p) array
        Times a parameter, the second gives that of the original matrix.
    """
    back = np.linalg.inv(np.linalg.cholesky(_products(matrix, times)).T)
    return (matrix.reshape(-1, len(back)) @ back).reshape(matrix.shape), back


def dependent(
    matrix: NDArray[np.float64], times: NDArray[np.float64], terms: Sequence[str]
) -> tuple[str, ...]:
    """Terms that depend on each other linearly in the (n, cells, p) matrix; none if none do."""
    products = _products(matrix, times)
    sizes = np.sqrt(np.diag(products))
    if not sizes.all():
        return tuple(term for term, size in zip(terms, sizes, strict=True) if not size)
    values, vectors = np.linalg.eigh(products / np.outer(sizes, sizes))
    if values[0] > _OWN * values[-1]:
        return ()
    involved = np.abs(vectors[:, 0]) > 1e-4
    return tuple(term for term, there in zip(terms, involved, strict=True) if there)


def independent(matrix: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of columns of the (n, q) matrix that make up all others, in order."""
    products = _products(matrix[:, None], times)
    sizes = np.sqrt(np.diag(products))
    sizes[sizes == 0] = 1.0
    _, triangle, order = scipy.linalg.qr(products / np.outer(sizes, sizes), pivoting=True)
    sound = np.abs(np.diag(triangle)) > _OWN * np.abs(triangle[0, 0])
    return np.sort(order[sound])


def _products(matrix: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    flat = matrix.reshape(-1, matrix.shape[2])
    weights = np.repeat(times, matrix.shape[1]) / (times.sum() * matrix.shape[1])
    return np.asarray((flat * weights[:, None]).T @ flat)
