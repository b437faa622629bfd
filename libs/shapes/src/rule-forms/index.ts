import { RULES_WITH_STATE } from '../values.ts';
import { cooldownKeys } from './cooldown.ts';
import { waitKeys } from './wait.ts';

const forms = { ...waitKeys, ...cooldownKeys };

/** Keys of the forms of rules with state. */
export const ruleFormKeys: typeof forms = RULES_WITH_STATE ? forms : ({} as typeof forms);
