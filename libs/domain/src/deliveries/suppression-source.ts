/**
 * Why an address gets nothing more on its channel. `hard_bounce`: it does not exist. `complaint`: its owner called a
 * message spam. `stop`: its owner answered STOP. `dead_token`: the app is gone from the device. `operator` and `import`: a
 * person put it on the list, alone or out of a file. One entry stands for each source, so that each can be undone alone.
 */
export const SUPPRESSION_SOURCES = ['hard_bounce', 'complaint', 'stop', 'dead_token', 'operator', 'import'] as const;
export type SuppressionSource = (typeof SUPPRESSION_SOURCES)[number];
