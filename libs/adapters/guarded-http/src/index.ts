export { createAddressGuard, type AddressGuardOptions } from './address-guard.ts';
export { createGuardedHttp, type GuardedHttpOptions } from './guarded-http.ts';
export { createNameResolver, type NameResolverOptions, type ResolveName } from './name-resolver.ts';
