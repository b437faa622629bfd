import { declareComparisonLaws } from './declare-comparison-laws.ts';
import { declareComparisonOracle } from './declare-comparison-oracle.ts';

declareComparisonLaws(3_000);
declareComparisonOracle(500);
