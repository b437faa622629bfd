export { KEY_SET_BOUNDS, type FetchedKeySet, type KeySetBounds } from './key-sets.ts';
export { createTokenVerifier, type TokenCheck, type TokenVerifierOptions } from './token-verifier.ts';
