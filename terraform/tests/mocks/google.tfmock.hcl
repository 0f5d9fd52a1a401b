# What Google alone knows, where a plan must know it too.

mock_data "google_project" {
  defaults = { number = "123456789012" }
}

mock_resource "google_service_account" {
  override_during = plan
  defaults = {
    id     = "projects/plinth-test/serviceAccounts/somebody@plinth-test.iam.gserviceaccount.com"
    name   = "projects/plinth-test/serviceAccounts/somebody@plinth-test.iam.gserviceaccount.com"
    email  = "somebody@plinth-test.iam.gserviceaccount.com"
    member = "serviceAccount:somebody@plinth-test.iam.gserviceaccount.com"
  }
}

mock_resource "google_project_iam_custom_role" {
  override_during = plan
  defaults        = { name = "projects/plinth-test/roles/ourOwn" }
}

mock_resource "google_monitoring_notification_channel" {
  override_during = plan
  defaults        = { id = "projects/plinth-test/notificationChannels/1" }
}
