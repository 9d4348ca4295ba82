import { makeAlike } from './alike.js';
import { watchErrors } from './engine-errors.js';
import { addMissing, lendBase64 } from './missing.js';
import { takeIntrinsics, trimTo } from './trim.js';

/** Runs before the boot code, which saves the globals that it will use later. */
export const intrinsics = takeIntrinsics();
addMissing();
trimTo(intrinsics);
makeAlike();
watchErrors();
export const takeBase64 = lendBase64();
