/** Pilots and previews: nothing is read from the disk or kept there, and each page is a new device. */
import { trial } from '../memo.js';
import { extras } from '../page/questions.js';

/** What is kept instead, until the page is left. */
const kept = new Map();

/** The part of an object store that is used here. */
function table() {
  const done = (result) => {
    const request = { result };
    queueMicrotask(() => request.onsuccess?.());
    return request;
  };
  return {
    get: (key) => done(kept.get(key)),
    getAll: () => done([...kept.values()]),
    getAllKeys: () => done([...kept.keys()]),
    put: (value, key) => kept.set(key, value),
    delete: (key) => kept.delete(key),
    transaction: { abort() {} },
  };
}

trial.transact = (act) => new Promise((resolve, reject) => {
  const found = act(table(), reject);
  setTimeout(() => resolve(found));
});
delete extras.draft;
