export { startEngine, type EnginePorts, type EngineRole, type EngineWatch } from './start.ts';
