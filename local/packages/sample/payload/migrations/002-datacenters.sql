create table if not exists datacenters (
  id integer primary key,
  name text not null,
  version text not null
);
