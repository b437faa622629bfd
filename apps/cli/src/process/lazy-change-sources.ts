import type { ChangeSources } from '@carillon/ports';

type Looking = Pick<ChangeSources, 'check' | 'tables'>;

/** Loads the reader of databases when it is first asked, because most deployments read none. A load that failed is retried. */
export function createLazyChangeSources(load: () => Promise<Looking>): Looking {
  let loading: Promise<Looking> | undefined;
  const loaded = (): Promise<Looking> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    check: async (target) => (await loaded()).check(target),
    tables: async (target) => (await loaded()).tables(target),
  };
}
