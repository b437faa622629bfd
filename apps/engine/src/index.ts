export { startEngine, type EnginePorts, type EngineRole, type EngineWatch } from './start.ts';
export { createStateSweeper } from './ticking/state-sweeper.ts';
export { createTicker } from './ticking/ticker.ts';
