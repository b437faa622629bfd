export type { Added, Lane, Waiting, WorkBounds } from './lanes.ts';
export { createLanes, type Lanes } from './lanes.ts';
export * from './scheduler.ts';
export * from './under-way.ts';
