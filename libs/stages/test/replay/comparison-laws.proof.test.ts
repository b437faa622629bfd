import { declareComparisonLaws } from './declare-comparison-laws.ts';

declareComparisonLaws(3_000);
