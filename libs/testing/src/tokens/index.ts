export * from './issuer.ts';
export * from './key-set-server.ts';
export * from './loopback-http.ts';
