export { startEngine, type EnginePorts, type EngineRole, type EngineWatch } from './start.ts';
export { createTicker } from './ticking/ticker.ts';
