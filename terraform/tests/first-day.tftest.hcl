# What a new organization allows, and how long Google takes.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

variables {
  alert_emails = ["on-call@example.com"]
}

run "first_day" {
  command = plan

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].max_instance_count <= 10])
    error_message = "New projects may have ten instances of one CPU, and no more."
  }
  assert {
    condition     = sum([for f in google_cloudfunctions2_function.function : f.service_config[0].max_instance_count]) <= 32
    error_message = "Some new projects may have 32 instances in all."
  }
  assert {
    condition     = alltrue([for channel in google_monitoring_notification_channel.email : channel.force_delete == true])
    error_message = "An address goes, whatever still names it."
  }
  assert {
    condition = alltrue([
      for tile in jsondecode(google_monitoring_dashboard.plinth.dashboard_json).mosaicLayout.tiles : try(tile.xPos, 1) != 0 && try(tile.yPos, 1) != 0
    ])
    error_message = "Google leaves zeros out: each plan would write them anew."
  }
  # What each of them took, as public issues have it; IAM has two minutes as a rule.
  assert {
    condition = jsonencode({
      apis     = time_sleep.apis.create_duration
      accounts = time_sleep.accounts.create_duration
      builder  = time_sleep.builder.create_duration
      eventarc = time_sleep.eventarc.create_duration
      metrics  = time_sleep.metrics.create_duration
    }) == jsonencode({ apis = "120s", accounts = "60s", builder = "120s", eventarc = "180s", metrics = "600s" })
    error_message = "Each wait is as long as Google may take."
  }
  assert {
    condition = alltrue([
      for pair in [[time_sleep.apis, google_project_service.api], [time_sleep.accounts, google_service_account.identity], [time_sleep.metrics, google_logging_metric.log]] :
      join(" ", keys(pair[0].triggers)) == join(" ", keys(pair[1]))
    ])
    error_message = "What a later release adds is waited for, too."
  }
}

run "own_project_among_those_of_bootstraps" {
  command = plan

  override_data {
    target = data.google_project.plinth
    values = { number = "123456789012", folder_id = "111" }
  }

  expect_failures = [data.google_project.plinth]
}
