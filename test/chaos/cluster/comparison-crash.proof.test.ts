import { declareKilledComparison } from './killed-comparison.ts';

declareKilledComparison(1);
