import type { RuleStateStore } from '@carillon/ports';

const untouched = (): never => {
  throw new Error('no rule here keeps state, and still somebody asks for it');
};

/** Where no rule keeps state nothing is ever loaded or saved. Once an assignment it is asked whether anything waits. */
export const noRuleStates: Pick<RuleStateStore, 'load' | 'save' | 'due' | 'earliestDue' | 'sweep' | 'list' | 'remove'> =
  {
    load: untouched,
    save: untouched,
    due: untouched,
    earliestDue: async () => null,
    sweep: async () => 0,
    list: async () => [],
    remove: async () => undefined,
  };
