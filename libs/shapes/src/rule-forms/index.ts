import { cooldownKeys } from './cooldown.ts';
import { totalsKeys } from './totals.ts';
import { waitKeys } from './wait.ts';

/** Keys of the forms of rules with state. */
export const ruleFormKeys = { ...totalsKeys, ...waitKeys, ...cooldownKeys };
