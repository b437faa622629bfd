import { vi } from 'vitest';
import { declareComparisonLaws } from './declare-comparison-laws.ts';
import { declareComparisonOracle } from './declare-comparison-oracle.ts';
import { declareQuietLaws } from './declare-quiet-laws.ts';

vi.setConfig({ testTimeout: 20 * 60_000 });

declareComparisonLaws(10_000);
declareQuietLaws(10_000);
declareComparisonOracle(500);
