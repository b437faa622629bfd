export { createPartnerLookup, type PartnerLookupOptions } from './partner-lookup.ts';
