import { lookForScripts } from './hostile-screens.ts';

// Each third screen; hostile-texts.proof.test.ts looks at all.
lookForScripts((nth) => nth % 3 === 0);
