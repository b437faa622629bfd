export { startEngine, type EnginePorts, type EngineRole } from './start.ts';
