import { lookForScripts } from './hostile-screens.ts';

lookForScripts(() => true);
