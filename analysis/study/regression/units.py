"""Units of parameters: a design with uncorrelated columns, so that all matter equally.

Errors of parameters can then be judged without knowing what the columns measure.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: The least fraction of a column's mean square that earlier columns must leave unexplained.
_OWN = 1e-12


def unit_matrix(matrix: Array, times: Array) -> tuple[Array, Array]:
    """Return the matrix in units where its columns' mean products are the identity, and `back`.

    The columns of the (n, cells, p) matrix must be independent; see `dependent`. `times` are the
    weights of rows. The (p, p) array `back` converts parameters to those of the original matrix.
    """
    back = np.linalg.inv(np.linalg.cholesky(_products(matrix, times)).T)
    return (matrix.reshape(-1, len(back)) @ back).reshape(matrix.shape), back


def dependent(matrix: Array, times: Array, terms: Sequence[str]) -> tuple[str, ...]:
    """Return the terms that are linearly dependent in the (n, cells, p) matrix."""
    products = _products(matrix, times)
    sizes = np.sqrt(np.diag(products))
    if not sizes.all():
        return tuple(term for term, size in zip(terms, sizes, strict=True) if not size)
    values, vectors = np.linalg.eigh(products / np.outer(sizes, sizes))
    if values[0] > _OWN * values[-1]:
        return ()
    involved = np.abs(vectors[:, 0]) > 1e-4
    return tuple(term for term, there in zip(terms, involved, strict=True) if there)


def independent(matrix: Array, times: Array) -> NDArray[np.int64]:
    """Return the indices of columns that span all columns of the (n, cells, q) matrix."""
    products = _products(matrix, times)
    sizes = np.sqrt(np.diag(products))
    sizes[sizes == 0] = 1.0
    _, triangle, order = scipy.linalg.qr(products / np.outer(sizes, sizes), pivoting=True)
    sound = np.abs(np.diag(triangle)) > _OWN * np.abs(triangle[0, 0])
    return np.sort(order[sound])


def _products(matrix: Array, times: Array) -> Array:
    flat = matrix.reshape(-1, matrix.shape[2])
    weights = np.repeat(times, matrix.shape[1]) / (times.sum() * matrix.shape[1])
    return np.asarray((flat * weights[:, None]).T @ flat)
