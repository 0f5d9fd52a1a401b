# What nobody should be able to give. Each run has one fault in each variable that it names, and must hear of all of them.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

run "of_another_form" {
  command = plan
  variables {
    project_id            = "Plinth"
    region                = "europe"
    deployment            = "Test"
    release               = "release 1"
    release_bucket        = "gs://plinth-test-releases"
    invokers              = ["people@example.com"]
    oauth_clients         = ["one.apps.example.com,other.apps.example.com"]
    operators             = ["user:operator@example.com"]
    bootstrappers         = { emails = ["user:alice@example.com"] }
    organization_creators = ["domain:example.com"]
    parents               = ["111"]
    machine_access        = "IAP"
    dns_zones             = ["shared-dns/zone-a"]
    dns_projects          = ["shared-dn"]
    billing_accounts      = ["billingAccounts/0123AB-4567CD-89EF01"]
    settings              = { PLINTH_LIVING_PER_OWNR = "5" }
    ceilings              = { hour = 0 }
    sizes                 = { apis = { memory = "1Gi" } }
    firestore_location    = "EU"
    alert_emails          = ["on-call"]
    budget                = { billing_account = "0123ab-4567cd-89ef01", own = 50, bootstraps = 500 }
    package_deletion_days = -1
  }
  expect_failures = [
    var.project_id, var.region, var.deployment, var.release, var.release_bucket, var.invokers, var.oauth_clients, var.operators,
    var.bootstrappers, var.organization_creators, var.parents, var.machine_access, var.dns_projects, var.billing_accounts, var.settings,
    var.sizes, var.ceilings, var.firestore_location, var.alert_emails, var.budget, var.package_deletion_days,
  ]
}

run "several_in_one" {
  command = plan
  variables {
    operators             = ["operator@example.com,second@example.com"]
    bootstrappers         = { emails = ["alice@example.com,bob@example.com"] }
    organization_creators = ["example.com,example.org"]
    alert_emails          = ["on-call@example.com,second@example.com"]
    sizes                 = { api = { memory = "1" } }
    budget                = { billing_account = "0123AB-4567CD-89EF01", own = 0, bootstraps = 500 }
    package_deletion_days = 0.5
  }
  expect_failures = [
    var.operators, var.bootstrappers, var.organization_creators, var.alert_emails, var.sizes, var.budget, var.package_deletion_days,
  ]
}

run "none_at_all" {
  command = plan
  variables {
    invokers         = []
    parents          = []
    billing_accounts = []
    bootstrappers    = { domains = ["@example.com"] }
    sizes            = { api = { min_instances = -1 } }
    budget           = { billing_account = "0123AB-4567CD-89EF01", own = 50, bootstraps = 0.5 }
  }
  expect_failures = [var.invokers, var.parents, var.billing_accounts, var.bootstrappers, var.sizes, var.budget]
}

run "of_yet_another_form" {
  command = plan
  variables {
    dns_zones     = ["zone-a"]
    bootstrappers = { domains = ["example.com,example.org"] }
    sizes         = { sweep = { min_instances = 2 } }
    pools         = [{ parent = "folders/999", billingAccount = "0123AB-4567CD-89EF01", region = "europe", size = 0 }]
  }
  expect_failures = [var.dns_zones, var.bootstrappers, var.sizes, var.pools]
}

run "no_way_to_the_machines" {
  command = plan
  variables { machine_access = null }
  expect_failures = [var.machine_access]
}

run "direct_without_a_word_on_who" {
  command = plan
  variables { machine_access = "direct" }
  expect_failures = [var.ssh_source_ranges]
}

run "direct_for_everybody_by_a_range_alone" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["203.0.113.0/24", "0.0.0.0/0"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "direct_for_everybody_of_ipv6_by_a_range_alone" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["203.0.113.0/24", "::/0"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "direct_for_everybody_by_halves" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["128.0.0.0/2", "0.0.0.0/1", "192.0.0.0/2", "203.0.113.0/24"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "direct_for_everybody_of_ipv6_by_halves" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["203.0.113.0/24", "::/1", "8000::/2", "c000::/3", "E000::/3"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "direct_for_all_but_a_few" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/3", "::/1", "8000::/2", "c000::/4", "e000::/3", "2001:db8:0:0:1::/80"]
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : lookup(f.service_config[0].environment_variables, "PLINTH_MACHINE_ACCESS_OPEN", "off") == "off"])
    error_message = "Ranges that leave addresses out need no second word."
  }
}

run "a_range_that_begins_elsewhere" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["203.0.113.7/24"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "a_range_with_too_long_a_prefix" {
  command = plan
  variables { ssh_source_ranges = ["203.0.113.0/33"] }
  expect_failures = [var.ssh_source_ranges]
}

run "a_range_of_ipv6_that_begins_elsewhere" {
  command = plan
  variables { ssh_source_ranges = ["10.0.0.0/8", "2001:db8::1/32"] }
  expect_failures = [var.ssh_source_ranges]
}

run "an_address_without_a_prefix" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["203.0.113.7"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "ranges_of_ipv6_alone" {
  command = plan
  variables {
    machine_access    = "direct"
    ssh_source_ranges = ["2001:db8::/32"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "open_where_nobody_is_let_in_directly" {
  command = plan
  variables { machine_access_open = true }
  expect_failures = [var.machine_access_open]
}

run "open_and_to_some_alone" {
  command = plan
  variables {
    machine_access      = "direct"
    machine_access_open = true
    ssh_source_ranges   = ["203.0.113.0/24"]
  }
  expect_failures = [var.ssh_source_ranges]
}

run "access_past_its_checks" {
  command = plan
  variables { settings = { PLINTH_SSH_SOURCE_RANGES = "0.0.0.0/0", PLINTH_MACHINE_ACCESS = "direct", PLINTH_MACHINE_ACCESS_OPEN = "on" } }
  expect_failures = [var.settings]
}

run "direct_for_everybody_and_said_so" {
  command = plan
  variables {
    machine_access      = "direct"
    machine_access_open = true
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_MACHINE_ACCESS_OPEN"] == "on" && !contains(keys(f.service_config[0].environment_variables), "PLINTH_SSH_SOURCE_RANGES")])
    error_message = "Each function knows that everybody may come."
  }
}

run "more_kept_than_there_may_be" {
  command = plan
  variables { sizes = { api = { min_instances = 3, max_instances = 2 } } }
  expect_failures = [var.sizes]
}

run "less_memory_than_cloud_run_gives" {
  command = plan
  variables { sizes = { api = { memory = "512M" } } }
  expect_failures = [var.sizes]
}

run "more_memory_than_one_cpu_may_have" {
  command = plan
  variables { sizes = { sweep = { memory = "4097Mi" } } }
  expect_failures = [var.sizes]
}

run "all_that_may_be_given" {
  command = plan
  variables {
    region                = "northamerica-northeast1"
    invokers              = ["allUsers", "group:people@example.com", "principalSet://iam.googleapis.com/x"]
    operators             = ["first.last+plinth@example.co.uk", "ci@acme-ci.iam.gserviceaccount.com"]
    bootstrappers         = { emails = ["o'hara@example.com"], domains = ["example.com", "xn--bcher-kva.example", "Sub-1.example.co.uk"] }
    organization_creators = ["anyone", "example.com"]
    machine_access        = "direct"
    ssh_source_ranges     = ["203.0.113.7/32", "198.51.100.0/24", "2001:0DB8::/32"]
    sizes                 = { api = { memory = "2G", min_instances = 10, concurrency = 1000 }, sweep = { memory = "512Mi", min_instances = 1 }, cleanup = { memory = "4Gi" } }
    firestore_location    = "nam5"
    alert_emails          = ["on-call@example.com"]
    package_deletion_days = 0
  }

  assert {
    condition     = google_cloudfunctions2_function.function["bootstraps"].service_config[0].environment_variables["PLINTH_BOOTSTRAPPERS"] == "o'hara@example.com,example.com,xn--bcher-kva.example,Sub-1.example.co.uk"
    error_message = "Lists reach the functions as they were given."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_MACHINE_ACCESS"] == "direct"])
    error_message = "Each function knows how machines are reached."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_SSH_SOURCE_RANGES"] == "203.0.113.7/32,198.51.100.0/24,2001:0DB8::/32"])
    error_message = "Each function knows from where."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["api"].service_config[0].min_instance_count == 10 && google_cloudfunctions2_function.function["cleanup"].service_config[0].max_instance_count == 1
    error_message = "What is given changes, what is not stays."
  }
}
