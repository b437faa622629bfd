export { createAddressGuard, type AddressGuardOptions, type ResolveName } from './address-guard.ts';
export { createGuardedHttp, type GuardedHttpOptions } from './guarded-http.ts';
