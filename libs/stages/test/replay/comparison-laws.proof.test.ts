import { declareComparisonLaws } from './declare-comparison-laws.ts';

declareComparisonLaws(10_000);
