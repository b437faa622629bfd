export * from './decision-words.ts';
export * from './entity-memory.ts';
export * from './entity-step.ts';
export {
  isLate,
  rememberedBindings,
  startTurn,
  stepAtEvent,
  type EntityTurn,
  type RuleStep,
  totalsAtEvent,
  type StatefulRule,
  withTotals,
} from './rule-step.ts';
