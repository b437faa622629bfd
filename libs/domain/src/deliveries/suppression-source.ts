/**
 * Source of a suppressed address. `hard_bounce`: the address does not exist. `complaint`: its owner reported spam.
 * `stop`: its owner replied STOP. `dead_token`: the app was removed from the device. `operator` and `import`: a person
 * added it, singly or from a file. Each source has its own entry and can be removed alone.
 */
export const SUPPRESSION_SOURCES = ['hard_bounce', 'complaint', 'stop', 'dead_token', 'operator', 'import'] as const;
export type SuppressionSource = (typeof SUPPRESSION_SOURCES)[number];
