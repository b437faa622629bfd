type Places = {
  /** For its own files; it writes nowhere else. */
  readonly folder: string;
  readonly port: number;
  readonly luaModule: string;
  /** Where `handler.lua` is. */
  readonly handlers: string;
  readonly host: string;
  readonly brokerPort: string;
  readonly topic: string;
};

/** One process, in the foreground: with `master_process off` the one that we know is the one that works. */
export const nginxConfiguration = ({ folder, port, luaModule, handlers, host, brokerPort, topic }: Places): string => `
load_module /usr/share/nginx/modules/ndk_http_module.so;
load_module ${luaModule};
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/errors error;
events { worker_connections 2048; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_body_buffer_size 512k;
  keepalive_requests 1000000;
  lua_package_path "${handlers}/?.lua;/usr/share/lua/5.1/?.lua;;";
  server {
    listen 127.0.0.1:${port};
    location /events {
      content_by_lua_block { require("handler").take("${host}", ${brokerPort}, "${topic}") }
    }
  }
}
`;
