import type { FastifyInstance } from 'fastify';

/**
 * Returns the methods that a path accepts, from the registered routes, to distinguish 405 from 404. Understands static
 * segments, parameters and a trailing wildcard, which is all that our routes use.
 */
export function watchRoutes(app: FastifyInstance): (path: string) => readonly string[] {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of Array.isArray(method) ? method : [method]) known.methods.add(one);
    routes.set(url, known);
  });
  return (path) => {
    const methods = [...routes.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((route) => [...route.methods]);
    return [...new Set(methods)].toSorted();
  };
}

function patternOf(url: string): RegExp {
  const source = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[^A-Za-z0-9_-]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source.join('/')}$`);
}
