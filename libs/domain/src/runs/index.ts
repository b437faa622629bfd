export * from './counts.ts';
export * from './finding.ts';
export * from './missing.ts';
export * from './row.ts';
export * from './run.ts';
export * from './slot-state.ts';
