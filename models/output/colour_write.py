"""Colours of a target: what shaders give is mixed with what is there, and lies in memory behind a cache."""

import numpy as np

from models.depth._line import ColourLine
from models.depth._target import check_places
from models.depth._tile_cache import TileCache
from models.raster.edge_evaluator import unpack


def blend(new, old, state):
    """What is stored of samples.

    Parameters
    ----------
    new, old : ndarray of uint32
        RGBA8, red in the lowest byte: what a shader gives, and what is stored.
    state : numpy.void
        From :func:`models.state.draw_state`: ``blend``, ``colour_write``.

    Returns
    -------
    ndarray of uint32
        With ``blend`` every channel is new * a + old * (1 - a), a the shader's alpha: SRC_ALPHA, INV_SRC_ALPHA. Exact,
        rounded once to the nearest. Channels that are not written keep what is stored.

    Source: numerics: colour; [fs 17.5].
    """
    channels = [np.asarray(colours, np.uint32)[..., None] >> np.arange(0, 32, 8, dtype=np.uint32) & 255 for colours in (new, old)]
    new, old = (c.astype(np.int64) for c in channels)
    if state["blend"]:
        alpha = new[..., 3:]
        new = (new * alpha + old * (255 - alpha) + 127) // 255
    written = int(state["colour_write"]) >> np.arange(4) & 1
    return (np.where(written, new, old) << np.arange(0, 32, 8)).sum(-1).astype(np.uint32)


class ColourCache(TileCache):
    """Colours in memory, RGBA8 a sample, behind a cache; parameters as of :class:`~models.depth._tile_cache.TileCache`."""

    LINE = ColourLine

    def run(self, tiles, colours, state):
        """Write shaded tiles, in order.

        Parameters
        ----------
        tiles : structured ndarray, shape (n,)
            As in :func:`spec.payloads.tile`, ``mask``: samples that passed.
        colours : ndarray of uint32, shape (n, edge, edge)
            What the shader gives for each sample.
        state : numpy.void
            Of the draw.

        Raises
        ------
        InputError
            A tile outside the target.
        """
        check_places(tiles, self._columns, self._rows)
        if not state["colour_write"]:
            return
        masks, places = unpack(tiles["mask"], self._edge), self._numbers(tiles)
        replaces = masks.all((1, 2)) & (state["colour_write"] == 15) & (not state["blend"])
        for n in np.flatnonzero(masks.any((1, 2))):
            old = self.use(places[n], not replaces[n], True)
            self.write(places[n], blend(colours[n], old, state), masks[n])
