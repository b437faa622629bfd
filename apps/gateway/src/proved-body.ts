import type { Permit } from './admission-control.ts';
import type { Admission } from './admission.ts';

/** The body of a request whose sender is known. */
export type ProvedBody = { readonly admission: Admission; readonly bytes: Uint8Array; readonly permit: Permit };
